/**
 * OpenTelemetry, by its own packages and variables: a span and a duration for each request. Most
 * servers have a Prometheus, or nothing, so the packages are installed for it alone.
 */
import { codeOf } from '../lib/core/errors.js'
import type { Log } from '../lib/core/log.js'
import type { Observe, Served } from './http/observe.js'

const PACKAGES = ['@opentelemetry/sdk-node', '@opentelemetry/api'] as const
/** Any of these asks for it. */
const WANTED = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
]
const NAME = 'quartermaster'

export interface Telemetry {
  observe: Observe
  /** Sends what is left; one that does not take it is not waited for longer than the SDK does. */
  close(): Promise<void>
}

/** What of the packages is used. */
interface Sdk {
  NodeSDK: new (options: { instrumentations: never[]; serviceName?: string }) => {
    start(): void
    shutdown(): Promise<void>
  }
}
interface Api {
  trace: { getTracer(name: string): Tracer }
  metrics: { getMeter(name: string): Meter }
  propagation: { extract(context: unknown, carrier: Record<string, string>): unknown }
  ROOT_CONTEXT: unknown
  SpanKind: { SERVER: number }
  SpanStatusCode: { ERROR: number }
  diag: { setLogger(logger: Record<string, (message: string) => void>, level: number): unknown }
  DiagLogLevel: { WARN: number }
}
interface Tracer {
  startSpan(name: string, options: Record<string, unknown>, context: unknown): Span
}
interface Span {
  setStatus(status: { code: number }): unknown
  end(at: number): void
}
interface Meter {
  createHistogram(
    name: string,
    options: { unit: string; description: string; advice: { explicitBucketBoundaries: number[] } },
  ): { record(value: number, attributes: Attributes): void }
}
type Attributes = Record<string, string | number>

/** Whether the environment asks for telemetry, as the specification of OpenTelemetry has it. */
export function wantsTelemetry(environment: NodeJS.ProcessEnv): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  return WANTED.some((name) => {
    const value = environment[name]
    return value !== undefined && value !== '' && value !== 'none'
  })
}

/**
 * Starts what the `OTEL_*` variables ask for; null where they ask for nothing, or where the packages
 * are missing, which is told once. All settings are the SDK's own: exporter, protocol, headers,
 * sampler, resource; the service is called `quartermaster` where none is named.
 */
export async function openTelemetry(
  { now, log }: { now: () => number; log: Log },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Telemetry | null> {
  if (!wantsTelemetry(environment)) return null
  const packages = await load(log)
  if (!packages) return null
  const { sdk, api } = packages
  const tell = (message: string) => log.warn({ telemetry: message }, 'telemetry is not sent')
  api.diag.setLogger(
    { error: tell, warn: tell, info() {}, debug() {}, verbose() {} },
    api.DiagLogLevel.WARN,
  )
  const isNamed =
    environment['OTEL_SERVICE_NAME'] ||
    /(^|,)\s*service\.name=/.test(environment['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  const running = new sdk.NodeSDK({
    instrumentations: [],
    ...(!isNamed && { serviceName: NAME }),
  })
  running.start()
  return {
    observe: observing(api, now),
    close: () => running.shutdown().catch((error: unknown) => tell((error as Error).message)),
  }
}

function observing(api: Api, now: () => number): Observe {
  const tracer = api.trace.getTracer(NAME)
  const duration = api.metrics.getMeter(NAME).createHistogram('http.server.request.duration', {
    unit: 's',
    description: 'From the head of a request to the whole answer',
    // As the semantic conventions advise for requests.
    advice: {
      explicitBucketBoundaries: [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
      ],
    },
  })
  return (served) => {
    const { method, route, status, milliseconds } = served
    const path = route.replace(/^[A-Z]+ /, '')
    const attributes = attributesOf(served, path)
    const ended = now()
    const span = tracer.startSpan(
      `${method} ${path}`,
      {
        kind: api.SpanKind.SERVER,
        startTime: ended - milliseconds,
        attributes: { ...attributes, 'quartermaster.request_id': served.requestId },
      },
      api.propagation.extract(api.ROOT_CONTEXT, served.trace()),
    )
    if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
    span.end(ended)
    duration.record(milliseconds / 1_000, attributes)
  }
}

/** Names of the semantic conventions for HTTP. */
const attributesOf = ({ method, status, code }: Served, path: string): Attributes => ({
  'http.request.method': method,
  'http.route': path,
  'http.response.status_code': status,
  ...(code !== null && { 'error.type': code }),
})

async function load(log: Log): Promise<{ sdk: Sdk; api: Api } | null> {
  try {
    // Not named in the call, so that no bundler looks for them.
    const [sdk, api] = await Promise.all(PACKAGES.map((name) => import(name)))
    return { sdk: sdk as Sdk, api: api as Api }
  } catch (error) {
    // The program in one script requires what modules import.
    if (!['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String(codeOf(error)))) throw error
    log.warn(
      {},
      `OTEL_* is set, and the packages for it are not installed: npm install ${PACKAGES.join(' ')}`,
    )
    return null
  }
}
