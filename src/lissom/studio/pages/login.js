// A password for a cookie.
const form = document.getElementById("login");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const password = document.getElementById("password").value;
  const answer = await fetch("/login", { method: "POST", body: password });
  if (answer.ok) return location.replace("/");
  const { error } = await answer.json();
  document.getElementById("answer").textContent = error.message;
});
