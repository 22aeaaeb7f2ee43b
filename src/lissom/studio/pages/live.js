// The web socket: it tells of every change among the runs, and answers poses while a slider moves.
import { $ } from "./dom.js";
import { StudioError } from "./server.js";

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
    this.socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    this.socket.onclose = () => this.closed();
  }
  opened() {
    $("connection").textContent = "";
    if (this.queued) this.socket.send(this.queued);
    this.queued = null;
  }
  closed() {
    $("connection").textContent = "no connection to the studio";
    const error = { kind: "no answer", message: "the studio does not answer: is it still running?" };
    for (const { reject } of this.waiting.values()) reject(new StudioError(error, 0));
    this.waiting.clear();
    setTimeout(() => this.connect(), AGAIN_MS);
  }
  heard(message) {
    if (message.jobs) {
      this.jobs = message.jobs;
      this.listeners.forEach((listen) => listen(this.jobs));
      return;
    }
    const asked = this.waiting.get(message.id);
    // Older questions were overtaken and get no answer.
    for (const id of this.waiting.keys()) if (id <= message.id) this.waiting.delete(id);
    if (!asked) return;
    if (message.error) asked.reject(new StudioError(message.error, 400));
    else asked.resolve(message.pose);
  }
  // The answer to the newest question; questions that are overtaken stay without one.
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
