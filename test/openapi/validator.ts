import { Validator } from '@seriousme/openapi-schema-validator'

/** The faults of an OpenAPI document, as an independent validator finds them. */
export async function validate(document: object): Promise<unknown[]> {
  const result = await new Validator().validate(
    structuredClone(document) as Record<string, unknown>,
  )
  return result.valid ? [] : [result.errors].flat()
}
