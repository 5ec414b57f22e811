/** What a connector is given to work with. */
export interface Session<Values = Readonly<Record<string, unknown>>> {
  /**
   * Values by the names of the distributor's settings; one that the subscriber has not set is
   * absent.
   */
  readonly settings: Values
  /** Aborted when the time is up or the app closes. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: () => number
}
