// How long single calls took, one after the other: everything else waited for each of them.

/** The longest, and how many were longer than that, in milliseconds. */
export class Pauses {
  longest = 0;
  over1ms = 0;
  over10ms = 0;

  add(took: number): void {
    if (took > this.longest) this.longest = took;
    if (took > 1) this.over1ms++;
    if (took > 10) this.over10ms++;
  }
}
