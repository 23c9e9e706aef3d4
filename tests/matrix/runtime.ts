/** What one subpath did on one runtime. */
export interface Row {
  readonly cases: number;
  readonly passed: number;
  /** What failed, for people. */
  readonly faults: readonly string[];
}

/** What the program under test is told of the place it runs in. */
export interface Place {
  /** The package's version. */
  readonly version: string;
  /** A Tidegate Worker, and a server that speaks RESP. */
  readonly worker?: { readonly url: string; readonly token: string };
  readonly server?: { readonly url: string; readonly password: string };
  /** Whether this runtime can open and listen on sockets. */
  readonly sockets: boolean;
  /** What `file:` does there. */
  readonly files: "kept" | "no SQLite" | "none";
}

/** A runtime that the package is used on. */
export interface Runtime {
  readonly name: string;
  /** Subpaths that make no sense there, and why. */
  readonly without: Readonly<Record<string, string>>;
  /** How many subpaths may be used at once, where each has a process of its own; one by default. */
  readonly atOnce?: number;
  /** Makes it ready to use the package as it is installed in `folder`. */
  open(folder: string, services: Pick<Place, "version" | "worker" | "server">): Promise<OpenRuntime>;
}

/** A runtime that is ready. */
export interface OpenRuntime {
  use(subpath: string): Promise<Row>;
  close?(): Promise<void>;
}
