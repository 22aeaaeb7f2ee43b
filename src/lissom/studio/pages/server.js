// Requests to the server. An error is thrown in the server's own words.

export const NO_ANSWER = { kind: "no answer", message: "the studio does not answer: is it still running?" };

export class StudioError extends Error {
  constructor(error) {
    super(error.message);
    this.error = error;
  }
}

async function fetched(path, options) {
  const answer = await fetch(path, options).catch(() => { throw new StudioError(NO_ANSWER); });
  if (answer.ok) return answer;
  // An answer that is no JSON has nothing but its status.
  const { error } = await answer.json().catch(() => ({ error: { kind: "no answer", message: `the server answered ${answer.status}` } }));
  throw new StudioError(error);
}

export const query = (values) => new URLSearchParams(values).toString();
const json = (method, body) => ({ method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const get = async (path, values = {}) => (await fetched(`/api/${path}?${query(values)}`)).json();
// What does not change, fetched once; a failure is not stored.
const stored = new Map();
export function getOnce(path) {
  if (!stored.has(path)) stored.set(path, get(path).catch((failure) => { stored.delete(path); throw failure; }));
  return stored.get(path);
}
export const post = async (path, body) => (await fetched(`/api/${path}`, json("POST", body))).json();
export const put = async (path, body, more = {}) => (await fetched(`/api/${path}`, { ...json("PUT", body), ...more })).json();
export const remove = async (path, values = {}) => (await fetched(`/api/${path}?${query(values)}`, { method: "DELETE" })).json();

export async function upload(file, name) {
  const answer = await fetched(`/api/upload?${query({ name })}`, { method: "PUT", body: file });
  return (await answer.json()).name;
}

// Saves the file in an answer where the browser saves files.
export async function save(path, body, name) {
  const answer = await fetched(`/api/${path}`, json("POST", body));
  saveBlob(await answer.blob(), name);
}
export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}

// A picture of the folder, to be shown on the page.
export async function pictureAddress(name) {
  const answer = await fetched(downloadAddress(name));
  return URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: "image/png" }));
}

export const downloadAddress = (name) => `/api/download?${query({ name })}`;
