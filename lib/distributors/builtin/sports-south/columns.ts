/** Columns of Sports South's services, as they are known. */

const numbered = (name: string, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, i) => `${name}${first + i}`)

/** Of an item in `DailyItemUpdate`. */
export const ITEM_COLUMNS: readonly string[] = [
  ...(
    'ITEMNO IDESC IMFSEQ IMFGNO CSEQ ITYPE SHDESC UOM PRC1 CPRC QTYOH WTPBX ITUPC MFGINO SCNAM1 ' +
    'SCNAM2 CATCD MFPRTYP MFPRC CATID TXTREF PICREF ITBRDNO IMODEL IPURPOSE'
  ).split(' '),
  ...numbered('ITATR', 1, 20),
  ...'SERIES LENGTH HEIGHT WIDTH HAZAIR HAZGRND CHGDTE LOADDT'.split(' '),
]

/** Of a category: the labels of its items' attributes, of which the tenth is called ATTR0. */
export const CATEGORY_COLUMNS: readonly string[] = [
  ...'CATID CATDES DEPID DEP'.split(' '),
  ...numbered('ATTR', 1, 9),
  'ATTR0',
  ...numbered('ATTR', 11, 20),
]
