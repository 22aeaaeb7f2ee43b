// The web socket: it reports every change of the runs, and answers poses while a slider moves.
import { $ } from "./dom.js";
import { NO_ANSWER, StudioError } from "./server.js";

const AGAIN_MS = 1500;

class Live {
  constructor() {
    this.listeners = new Set();
    this.jobs = [];
    this.waiting = new Map();
    this.numbers = 0;
    this.queued = null;
  }
  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/api/live`);
    this.socket.onopen = () => this.opened();
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => this.closed();
  }
  opened() {
    $("connection").textContent = "";
    if (this.queued) this.socket.send(this.queued);
    this.queued = null;
  }
  closed() {
    $("connection").textContent = "no connection to the studio";
    for (const { reject } of this.waiting.values()) reject(new StudioError(NO_ANSWER));
    this.waiting.clear();
    setTimeout(() => this.connect(), AGAIN_MS);
  }
  receive(message) {
    if (message.jobs) {
      this.jobs = message.jobs;
      this.listeners.forEach((listen) => listen(this.jobs));
      return;
    }
    const request = this.waiting.get(message.id);
    // Older requests were overtaken and get no answer.
    for (const id of this.waiting.keys()) if (id <= message.id) this.waiting.delete(id);
    if (message.error) request?.reject(new StudioError(message.error));
    else request?.resolve(message.pose);
  }
  // The answer to the newest request; requests that are overtaken get none.
  pose(question) {
    const id = ++this.numbers;
    const text = JSON.stringify({ id, pose: question });
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else this.queued = text;
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
  onJobs(listen) {
    this.listeners.add(listen);
    listen(this.jobs);
    return () => this.listeners.delete(listen);
  }
}

export const live = new Live();
