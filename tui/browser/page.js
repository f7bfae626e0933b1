// Keys go to the application as soon as it shows, without a click.
addEventListener("DOMContentLoaded", () => {
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  new MutationObserver(focus).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  addEventListener("focus", focus);
});
