// Keeps the page's files, all of them from one build, and answers from there. `VERSION` and `FILES` are filled in by the
// build.

const CACHE = `tidegate-playground-${VERSION}`;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => Promise.all(FILES.map((file) => keep(cache, file))))
      .then(() => self.skipWaiting()),
  );
});

/** Names under assets/ change with their content: what the page has just loaded is not loaded again. */
async function keep(cache, file) {
  const response = await fetch(file, { cache: file.startsWith("./assets/") ? "force-cache" : "no-cache" });
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  await cache.put(file, response);
}

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => names.filter((name) => name.startsWith("tidegate-playground-") && name !== CACHE))
      .then((old) => Promise.all(old.map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/v1/")) return;
  event.respondWith(
    caches
      .open(CACHE)
      .then((cache) => cache.match(request.mode === "navigate" ? "./" : request))
      .then((kept) => kept ?? fetch(request)),
  );
});
