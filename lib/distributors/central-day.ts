/** Days in the middle of the country, where several distributors count them. */
const LOCAL = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Chicago',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
})

/** The day in Central time, `YYYY-MM-DD`. */
export const centralDay = (ms: number): string => LOCAL.format(ms)
