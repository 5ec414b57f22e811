/**
 * Lines of level error that the faults of the simulation are meant to bring about. Any other is a
 * finding.
 */
export const EXPECTED: readonly RegExp[] = [
  // Distributors that tell too little of what they have.
  /^an order needs a person's decision: /,
  // A disk that fails under the database, or under the journal.
  /: simulated(: (full|io before|io after|ours))?$/,
  /: (the disk is full: )?the journal of orders cannot be written$/,
  /: The disk failed under the orders: what was committed is not known\./,
]
