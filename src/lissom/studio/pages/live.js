// The web socket: it reports every change of the runs, and answers poses while a slider moves.
import { $ } from "./dom.js";
import { NO_ANSWER, StudioError } from "./server.js";

const AGAIN_MS = 1500;
const listeners = new Set(); // to changes of the runs
const waiting = new Map(); // requests for poses by their numbers
let socket = null;
let requests = 0;
let queued = null; // the newest request until the connection is open
export let jobs = [];

export function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/api/live`);
  socket.onopen = () => {
    $("connection").textContent = "";
    if (queued) socket.send(queued);
    queued = null;
  };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = () => {
    $("connection").textContent = "no connection to the studio";
    for (const { reject } of waiting.values()) reject(new StudioError(NO_ANSWER));
    waiting.clear();
    setTimeout(connect, AGAIN_MS);
  };
}
function receive(message) {
  if (message.jobs) {
    jobs = message.jobs;
    listeners.forEach((listen) => listen(jobs));
    return;
  }
  const request = waiting.get(message.id);
  // Older requests were overtaken and get no answer.
  for (const id of waiting.keys()) if (id <= message.id) waiting.delete(id);
  if (message.error) request?.reject(new StudioError(message.error));
  else request?.resolve(message.pose);
}

// The answer to the newest request; requests that are overtaken get none.
export function pose(question) {
  const id = ++requests;
  const text = JSON.stringify({ id, ...question });
  if (socket.readyState === WebSocket.OPEN) socket.send(text);
  else queued = text;
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

export function onJobs(listen) {
  listeners.add(listen);
  listen(jobs);
  return () => listeners.delete(listen);
}
