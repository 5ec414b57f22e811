/** JSON Pointers (RFC 6901), and how they are told to people. */

/** One step: `a/b` -> `/a~1b`. */
export const pointerStep = (name: string): string =>
  `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The members that a pointer names, one after the other. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * `/distributors/RSR Group/active` -> `distributors.RSR Group.active`,
 * `/pricing/cost_adjustments/0` -> `pricing.cost_adjustments[0]`.
 */
export function dotted(pointer: string): string {
  return pointerSteps(pointer)
    .map((name, i) =>
      /^\d+$/.test(name) ? `[${name}]` : i === 0 ? shortName(name) : `.${shortName(name)}`,
    )
    .join('')
}

const LONGEST_NAME = 100

/** A member's name for a message. */
export function shortName(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}
