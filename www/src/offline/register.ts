/**
 * Keeps the page for when there is no network; only the built page has a worker to do so. It starts when the page is done
 * loading, so that its copies come out of the browser's cache and never compete with the first picture.
 */
export function registerOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  setTimeout(() => void navigator.serviceWorker.register("./offline.js"), 1500);
}
