/*
 * The jobs that wait. Jobs with the same identities in every scoped rule are a line; a line is first in, first out within a
 * priority. Lines wait for each other only where a rule that all share refuses.
 */

/** A job's place in a line. */
export interface Place {
  readonly priority: number;
  /** Counts up over all jobs of the valve. */
  readonly order: number;
  before: Place | undefined;
  after: Place | undefined;
  row: Row | undefined;
}

/** The places of one priority in a line. */
interface Row {
  readonly priority: number;
  first: Place | undefined;
  last: Place | undefined;
}

/** The jobs of one set of identities. */
export class Line {
  readonly key: string;
  /** Rows that are not empty, highest priority first. */
  readonly #rows: Row[] = [];
  /** When its first job may be asked for again; 0 at once. */
  blockedUntil = 0;
  /** Refusals in a row since the promised instant came, after each of which it waits a little more. */
  races = 0;
  /** The job that was refused at its turn: it keeps the turn. */
  #turn: Place | undefined;
  /** Where it stands in a heap of lines. */
  heapIndex = -1;

  constructor(key: string) {
    this.key = key;
  }

  /** The job whose turn it is. */
  get head(): Place | undefined {
    return this.#turn ?? this.#rows[0]?.first;
  }

  /** The head was refused: nobody overtakes it any more. */
  keepTurn(): void {
    this.#turn = this.head;
  }

  add(place: Place): void {
    let at = 0;
    let row = this.#rows[at];
    while (row && row.priority > place.priority) row = this.#rows[++at];
    if (row?.priority !== place.priority) {
      row = { priority: place.priority, first: undefined, last: undefined };
      this.#rows.splice(at, 0, row);
    }
    // One that comes back keeps its place; almost everybody who waits came after it.
    let next = (row.last?.order ?? 0) > place.order ? row.first : undefined;
    while (next && next.order < place.order) next = next.after;
    place.row = row;
    place.after = next;
    place.before = next ? next.before : row.last;
    if (place.before) place.before.after = place;
    else row.first = place;
    if (next) next.before = place;
    else row.last = place;
  }

  remove(place: Place): void {
    const { row, before, after } = place;
    if (row === undefined) return;
    if (before) before.after = after;
    else row.first = after;
    if (after) after.before = before;
    else row.last = before;
    place.before = place.after = place.row = undefined;
    if (row.first === undefined) this.#rows.splice(this.#rows.indexOf(row), 1);
    if (this.#turn === place) {
      this.#turn = undefined;
      this.races = 0;
    }
  }
}

/** Whether the head of `a` comes before that of `b`: lines that wait have one. */
export function comesFirst(a: Line, b: Line): boolean {
  const [first, second] = [a.head, b.head] as [Place, Place];
  return first.priority === second.priority ? first.order < second.order : first.priority > second.priority;
}

/** A binary heap whose items know where they stand, so that any of them can leave. */
export class Heap<T extends { heapIndex: number }> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  /** Puts an item where it belongs, whether it is new or has changed. */
  put(item: T): void {
    if (!this.has(item)) item.heapIndex = this.#items.push(item) - 1;
    if (!this.#rise(item)) this.#sink(item);
  }

  /** Takes an item out, if it is in. */
  remove(item: T): void {
    if (!this.has(item)) return;
    const last = this.#items.pop() as T;
    if (last !== item) {
      last.heapIndex = item.heapIndex;
      this.#items[last.heapIndex] = last;
      this.put(last);
    }
    item.heapIndex = -1;
  }

  has(item: T): boolean {
    // An array asked for what stands at -1 looks for a property of that name.
    return item.heapIndex >= 0 && this.#items[item.heapIndex] === item;
  }

  #rise(item: T): boolean {
    let moved = false;
    while (item.heapIndex > 0) {
      const parent = this.#items[(item.heapIndex - 1) >> 1] as T;
      if (!this.#before(item, parent)) break;
      this.#swap(item, parent);
      moved = true;
    }
    return moved;
  }

  #sink(item: T): void {
    for (;;) {
      const left = this.#items[2 * item.heapIndex + 1];
      const right = this.#items[2 * item.heapIndex + 2];
      if (left === undefined) return;
      const child = right !== undefined && this.#before(right, left) ? right : left;
      if (!this.#before(child, item)) return;
      this.#swap(child, item);
    }
  }

  #swap(a: T, b: T): void {
    [a.heapIndex, b.heapIndex] = [b.heapIndex, a.heapIndex];
    this.#items[a.heapIndex] = a;
    this.#items[b.heapIndex] = b;
  }
}
