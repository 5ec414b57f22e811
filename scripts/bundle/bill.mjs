/**
 * The bill of materials: what a bundle is made of, as CycloneDX 1.6 in JSON. It has no time of its
 * making, so that the same sources give the same file.
 */
import { createHash } from 'node:crypto'

/** A package as purl names it: `pkg:npm/%40duckdb/node-api@1.5.5-r.5`. */
const addressOf = ({ name, version }) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

function componentOf(one) {
  const [name, group] = one.name.split('/').reverse()
  const [algorithm, digest] = one.integrity?.split(/-(.*)/s) ?? []
  return {
    type: 'library',
    'bom-ref': addressOf(one),
    ...(group !== undefined && { group }),
    name,
    version: one.version,
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    licenses: [/ OR | AND /.test(one.license) ? { expression: one.license } : licenseOf(one)],
    purl: addressOf(one),
  }
}
const licenseOf = ({ license }) => ({ license: { id: license } })

/**
 * The bill for these packages in `product` (name, version, license). `runtime` is Node, where
 * it goes along.
 */
export function billOf(product, packages, runtime) {
  const root = addressOf(product)
  const known = new Map(packages.map((one) => [one.name, addressOf(one)]))
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root,
        name: product.name,
        version: product.version,
        licenses: [licenseOf(product)],
        purl: root,
      },
    },
    components: packages.map(componentOf),
    dependencies: packages.map((one) => ({
      ref: addressOf(one),
      dependsOn: one.needs.filter((name) => known.has(name)).map((name) => known.get(name)),
    })),
  }
  if (runtime !== undefined)
    bill.components.push({
      type: 'platform',
      'bom-ref': 'node',
      name: runtime.name,
      version: runtime.version,
      licenses: [licenseOf({ license: 'MIT' })],
    })
  bill.dependencies.unshift({ ref: root, dependsOn: bill.components.map((one) => one['bom-ref']) })
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex')
  const { bomFormat, specVersion, ...rest } = bill
  return { bomFormat, specVersion, serialNumber: `urn:uuid:${uuidOf(digest)}`, ...rest }
}

/** A UUID (version 8: of the maker's own making) that stands for a digest in hex. */
function uuidOf(digest) {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest)
  return [a, b, `8${c}`, `8${d}`, e].join('-')
}
