// What this package uses of the platform's own types. A Worker's project has the full ones.

declare module "cloudflare:workers" {
  export abstract class DurableObject<Env = unknown> {
    constructor(ctx: ObjectState, env: Env);
    /**
     * The object's storage and alarm.
     *
     * @internal
     */
    protected ctx: ObjectState;
    /** The Worker's bindings. */
    protected env: Env;
    alarm?(): Promise<void>;
  }

  interface ObjectState {
    readonly storage: {
      readonly sql: {
        exec(
          query: string,
          ...bindings: readonly (number | string | ArrayBuffer | Uint8Array | null)[]
        ): { raw(): Iterable<unknown[]>; readonly rowsRead: number; readonly rowsWritten: number };
      };
      getAlarm(): Promise<number | null>;
      setAlarm(time: number): Promise<void>;
      deleteAlarm(): Promise<void>;
      deleteAll(): Promise<void>;
    };
  }
}
