/** Keeps the page for when there is no network; only the built page has a worker to do so. */
export function registerOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  window.addEventListener("load", () => void navigator.serviceWorker.register("./offline.js"));
}
