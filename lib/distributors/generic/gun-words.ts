/**
 * Whether a category's words may stand for a firearm. A feed's license column, or the order of a
 * preset's rules, can be wrong; a text that still names a gun then keeps the item from a consumer's
 * door. It may err on the side of the store.
 */
const GUNS =
  'pistols?|handguns?|revolvers?|rifles?|shotguns?|carbines?|derringers?|guns?|firearms?|' +
  'receivers?|lowers?|frames?|suppressors?|silencers?|muzzleloaders?|muzzleloading|' +
  'sbrs?|sbs|aows?|machineguns?|actions?|fire control'
const GUN = new RegExp(`\\b(?:${GUNS})\\b`)

/** What goes with a gun: "rifle scopes", "handgun ammunition". */
const GOODS =
  'scopes?|sights?|magazines?|mags?|ammunition|ammo|shells?|cartridges?|brass|bullets?|' +
  'primers?|dies?|cases?|bags?|rugs?|socks?|covers?|slings?|grips?|holsters?|pouch(?:es)?|' +
  'belts?|parts?|accessor(?:y|ies)|cleaning|care|oils?|tools?|safes?|vaults?|locks?|racks?|' +
  'cabinets?|rests?|stocks?|handguards?|forends?|mounts?|rings?|bases?|lights?|lasers?|' +
  'optics?|targets?|chokes?|barrels?|triggers?'
const WITH_GOODS = new RegExp(
  `\\b(?:pistol|handgun|revolver|rifle|shotgun|long ` +
    `gun|gun|firearm|rimfire|suppressor|silencer|lower|receiver|frame)s? (?:${GOODS})\\b`,
  'g',
)
/** "Ammunition - Handgun": what goes with a gun, and for which. */
const GOODS_FOR = new RegExp(
  `^(?:[a-z]+ )?(?:${GOODS}|reloading) ?[-|>:/] ` +
    '?(?:pistol|handgun|revolver|rifle|shotgun|rimfire)s?$',
)
/** No firearm by law, though some states ask for more. */
const AIR = /\b(?:air|bb|pellet|airsoft|paintball) ?-? ?(?:guns?|rifles?|pistols?)\b|\bairguns?\b/g

/**
 * True when the text names a firearm, a frame, a receiver or a suppressor, and not only what goes
 * with one.
 */
export function namesGun(text: string): boolean {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z|>:/&+-]+/g, ' ')
    .trim()
  if (GOODS_FOR.test(plain)) return false
  return GUN.test(plain.replaceAll(AIR, ' ').replaceAll(WITH_GOODS, ' '))
}
