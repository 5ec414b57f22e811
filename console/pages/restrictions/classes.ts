/** Product classes with their codes, as lists offer them. */
import { PRODUCT_CLASSES } from '../../../lib/distributors/product-classes.js'

export const CLASSES = Object.entries(PRODUCT_CLASSES).map(
  ([code, name]) => [code, `${code} · ${name}`] as const,
)
