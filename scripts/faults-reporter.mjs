/** Tells each test as a line of JSON, with its file: what scripts/faults.mjs counts. */
export default async function* tell(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details?.type === 'suite') continue
    const { file, name, skip } = data
    yield `${JSON.stringify({ file, name, isFine: type === 'test:pass', isSkipped: skip !== undefined })}\n`
  }
}
