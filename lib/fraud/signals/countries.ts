/**
 * Countries as addresses and telephones need them: one code for all that people and shops write.
 */
import { folded, wordsOf } from './fold.js'

const LONGEST_NAME = 100

/**
 * Codes of two and three letters, then names, without blanks. What belongs to the United States is
 * told by its state or area code.
 */
const COUNTRIES = `
us usa unitedstates unitedstatesofamerica theunitedstates theunitedstatesofamerica america \
estadosunidos eeuu um umi unitedstatesminoroutlyingislands pr pri puertorico vi vir \
usvirginislands virginislandsus gu gum guam as asm americansamoa mp mnp northernmarianaislands
ca can canada|mx mex mexico
gb gbr uk unitedkingdom greatbritain britain england scotland wales northernireland \
unitedkingdomofgreatbritainandnorthernireland|ie irl ireland|de deu germany deutschland|fr fra \
france|es esp spain espana|it ita italy italia|pt prt portugal
nl nld netherlands thenetherlands holland|be bel belgium|lu lux luxembourg
ch che switzerland schweiz|at aut austria osterreich|dk dnk denmark|no nor norway|se swe sweden
fi fin finland|is isl iceland|pl pol poland|cz cze czechrepublic czechia|sk svk slovakia
hu hun hungary|ro rou romania|bg bgr bulgaria
gr grc greece|tr tur turkey turkiye|ru rus russia russianfederation|ua ukr ukraine|by blr belarus
ee est estonia|lv lva latvia|lt ltu lithuania|hr hrv croatia|si svn slovenia|rs srb serbia
il isr israel|ae are unitedarabemirates uae|sa sau saudiarabia|ge geo georgia
au aus australia|nz nzl newzealand|jp jpn japan|cn chn china peoplesrepublicofchina|hk hkg hongkong
tw twn taiwan|kr kor southkorea korea republicofkorea|sg sgp singapore|my mys malaysia
th tha thailand|vn vnm vietnam|ph phl philippines|id idn indonesia|in ind india|pk pak pakistan
bd bgd bangladesh
br bra brazil brasil|ar arg argentina|cl chl chile|co col colombia|pe per peru|ve ven venezuela
ec ecu ecuador|uy ury uruguay|py pry paraguay|bo bol bolivia|cr cri costarica|pa pan panama
gt gtm guatemala|hn hnd honduras|sv slv elsalvador|ni nic nicaragua|bz blz belize|cu cub cuba
ht hti haiti
za zaf southafrica|ng nga nigeria|ke ken kenya|gh gha ghana|eg egy egypt|ma mar morocco
ag atg antiguaandbarbuda antigua|ai aia anguilla|bb brb barbados|bm bmu bermuda
bs bhs bahamas thebahamas|dm dma dominica|do dom dominicanrepublic|gd grd grenada|jm jam jamaica
kn kna saintkittsandnevis stkittsandnevis|ky cym caymanislands|lc lca saintlucia stlucia
ms msr montserrat|sx sxm sintmaarten
tc tca turksandcaicosislands turksandcaicos|tt tto trinidadandtobago trinidad
vc vct saintvincentandthegrenadines stvincentandthegrenadines
vg vgb britishvirginislands virginislandsbritish
`
const codeOf = new Map(
  COUNTRIES.trim()
    .split(/[|\n]/)
    .flatMap((entry) => entry.split(' ').map((name, _, [code]) => [name, code!] as const)),
)

/**
 * The code of a country, in lower case: `US`, `u.s.a.`, `United States (US)`, `Puerto Rico` and
 * nothing at all are `us`, `UK` is `gb`. A name that is not known stays one of its own.
 */
export function countryCode(text: string | null | undefined): string {
  if (!text) return 'us'
  const code = codeOf.get(text.toLowerCase())
  if (code !== undefined) return code
  const name = folded(text, LONGEST_NAME)
  const whole = wordsOf(name).join('')
  if (whole === '') return 'us'
  const known = codeOf.get(whole)
  if (known !== undefined || !name.includes('(')) return known ?? whole
  // As shops write it: the name, and its code or an article in brackets.
  const codeIn = (part: string) => codeOf.get(wordsOf(part).join(''))
  const outside = codeIn(name.replace(/\(.*/, ''))
  return outside ?? codeIn(name.replace(/^[^(]*/, '').replace(/\).*/, '')) ?? whole
}

/**
 * Countries other than the United States that share their plan of numbers: `1` is the country,
 * `011` leads abroad.
 */
const NORTH_AMERICAN = new Set(
  'us ca ag ai bb bm bs dm do gd jm kn ky lc ms sx tc tt vc vg'.split(' '),
)
export const isNorthAmerican = (code: string): boolean => NORTH_AMERICAN.has(code)
