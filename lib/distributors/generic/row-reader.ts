/** One row while it is read: its cells by column, and the first fault met. */
import { fold } from './casts.js'

/** As much of a faulty cell as a reason quotes. */
const QUOTED = 40

export class RowReader {
  cells: readonly string[] = []
  fault: string | null = null
  /** The names of the file's columns. */
  readonly columns: readonly string[]
  readonly #places = new Map<string, number>()
  #foldedCells: readonly string[] | null = null
  #foldedPlace = -1
  #folded = ''

  constructor(columns: readonly string[]) {
    this.columns = columns
    // Of two columns with one name the first counts: exports repeat columns, but do not reorder
    // them.
    columns.forEach((name, i) => this.#places.has(fold(name)) || this.#places.set(fold(name), i))
  }

  /** Places of those columns that the file has. */
  places(names: readonly string[]): number[] {
    return names.map((name) => this.#places.get(fold(name)) ?? -1).filter((place) => place >= 0)
  }

  /** A cell; '' where an older, shorter layout lacks it. */
  cell(place: number): string {
    return this.cells[place] ?? ''
  }

  /**
   * As `cell`, for comparing. Rules ask for one column again and again, so the last answer is kept.
   */
  folded(place: number): string {
    if (this.#foldedCells !== this.cells || this.#foldedPlace !== place) {
      this.#folded = fold(this.cell(place))
      this.#foldedCells = this.cells
      this.#foldedPlace = place
    }
    return this.#folded
  }

  fail(place: number | undefined, cell: string, problem: string): void {
    const column = place === undefined ? undefined : this.columns[place]
    this.fault ??= `${column ?? 'a column'} is "${cell.trim().slice(0, QUOTED)}", which is ${problem}`
  }
}
