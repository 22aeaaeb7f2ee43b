// Questions to the server. An answer that is none is thrown with the server's own words.

export class StudioError extends Error {
  constructor(error, status) {
    super(error.message);
    this.error = error;
    this.status = status;
  }
}

async function checked(answer) {
  if (answer.ok) return answer;
  let error = { kind: "no answer", message: `the server answered ${answer.status}` };
  try {
    ({ error } = await answer.json());
  } catch {
    // Not even JSON: the status is all there is to say.
  }
  throw new StudioError(error, answer.status);
}

async function fetched(path, options = {}) {
  try {
    return await checked(await fetch(path, options));
  } catch (failure) {
    if (failure instanceof StudioError) throw failure;
    throw new StudioError({ kind: "no answer", message: "the studio does not answer: is it still running?" }, 0);
  }
}

const query = (values) => new URLSearchParams(values).toString();
const json = (method, body) => ({ method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const get = async (path, values = {}) => (await fetched(`/api/${path}?${query(values)}`)).json();
export const post = async (path, body) => (await fetched(`/api/${path}`, json("POST", body))).json();
export const put = async (path, body, more = {}) => (await fetched(`/api/${path}`, { ...json("PUT", body), ...more })).json();
export const remove = async (path, values = {}) => (await fetched(`/api/${path}?${query(values)}`, { method: "DELETE" })).json();

export async function upload(file, name = file.name) {
  const answer = await fetched(`/api/upload?${query({ name })}`, { method: "PUT", body: file });
  return (await answer.json()).name;
}

// A file that an answer holds, saved where the browser saves files.
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
