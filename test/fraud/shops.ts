/** Further shops, and dealers, for the suites of fraud signals. */
import type { Insertable } from 'kysely'
import type { DealerTable } from '../../lib/db/tables/ffls.js'
import type { TestApp } from '../../server/testing/index.js'

/** Shops of the same installation, each with a key. */
export async function shops(
  { app }: TestApp,
  count: number,
): Promise<{ name: string; id: string; key: string }[]> {
  const made: { name: string; id: string; key: string }[] = []
  for (let n = 1; n <= count; n++) {
    const { id, name } = await app.operator.subscribers.create({
      name: `Shop ${n}`,
      email: `shop${n}@shop.example`,
    })
    const { key } = await app.operator.keys.create({
      subscriber: name,
      name: 'shop',
      tier: 'enterprise',
      ips: ['127.0.0.1'],
    })
    made.push({ name, id, key })
  }
  return made
}

export function dealerRow(
  premise: Pick<
    Insertable<DealerTable>,
    'premise_street' | 'premise_city' | 'premise_state' | 'premise_zip'
  >,
): Insertable<DealerTable> {
  return {
    id: '1-62-90211',
    license_number: '1-62-037-01-9E-90211',
    license_type: '01',
    expires_on: '2029-05-01',
    valid_until: null,
    license_name: 'MADE UP ARMS',
    business_name: null,
    ...premise,
    mail_street: null,
    mail_city: null,
    mail_state: null,
    mail_zip: null,
    voice_phone: null,
    email: null,
    fee_longgun: null,
    fee_handgun: null,
    sot_on_file: 0,
    source: 'operator',
    updated_at: 0,
  }
}
