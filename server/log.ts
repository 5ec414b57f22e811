import { pino } from 'pino'
import type { Log } from '../lib/core/log.js'

/** One JSON line per event on standard error; never a body, a key or a credential. */
export function openLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'key',
          'apiKey',
          'password',
          '*.key',
          '*.password',
          '*.token',
          'headers',
          '*.headers',
        ],
        censor: '********',
      },
    },
    pino.destination({ fd: 2, sync: false }),
  ) as unknown as Log
}
