/** Sports South: four columns as shops keep them, or those of the catalog service. */
import type { CatalogPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

const type = (number: number, set: Rule['set']): Rule => ({
  when: [{ column: 'ITYPE', in: [String(number)] }],
  set,
})

export const catalog: CatalogPreset = {
  id: 'sports-south',
  distid: 'TSW',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: [
    ['ITEMNO', 'I'],
    ['QTYOH', 'Q'],
    ['CPRC', 'P'],
  ],
  key: ['ITEMNO', 'I'],
  map: {
    upc: { from: ['ITUPC', 'UPC'] },
    name: { from: ['IDESC', 'SHDESC'] },
    shortDescription: { from: ['SHDESC'] },
    mpn: { from: ['MFGINO', 'IMFGNO'] },
    itemCat: { from: ['CATDES', 'CATID'] },
    // CPRC and C are the customer's own price.
    price: { from: ['CPRC', 'C', 'P'] },
    map: { from: ['MFPRC'] },
    qty: { from: ['QTYOH', 'Q'] },
    images: {
      template: 'https://media.server.theshootingwarehouse.com/large/{PICREF}.jpg',
      none: ['0'],
    },
  },
  classify: [
    type(1, { productClass: 'FA', ffl: true, category: CATEGORY.pistols }),
    type(2, { productClass: 'FA', ffl: true, category: CATEGORY.firearms }),
    type(8, { productClass: 'SO', ffl: true, category: CATEGORY.silencers }),
    type(3, { productClass: 'AC', category: CATEGORY.accessories }),
    type(4, { productClass: 'AO', category: CATEGORY.ammunition }),
    type(5, { productClass: 'OP', category: CATEGORY.optics }),
    type(6, { productClass: 'AR', category: CATEGORY.archery }),
    type(7, { productClass: 'RL', category: CATEGORY.reloading }),
    // Without ITYPE no rule fits: the four columns do not tell firearms apart.
  ],
  gunWordsIn: ['CATDES', 'DEP'],
  attributes: [
    { column: 'IMODEL', name: 'Model' },
    { column: 'SERIES', name: 'Series' },
    { column: 'WTPBX', name: 'Weight (lb)' },
    { column: 'LENGTH', name: 'Length (in)' },
    { column: 'WIDTH', name: 'Width (in)' },
    { column: 'HEIGHT', name: 'Height (in)' },
    { column: 'HAZAIR', name: 'Hazardous (Air)', only: ['Y', '1'] },
    { column: 'HAZGRND', name: 'Hazardous (Ground)', only: ['Y', '1'] },
  ],
}
