/**
 * Code with its words told apart, as HTML: classes alone, which the style gives colors. A language
 * that is not known stays as it is.
 */
import { escapeHtml } from './html.js'

/**
 * What a word may be: comment, string, name (of a member, an option, a variable), figure, word of
 * the language. The first that fits at a place wins.
 */
type Kind = 'comment' | 'string' | 'name' | 'figure' | 'word'
type Language = readonly (readonly [Kind, RegExp])[]

const DOUBLE = /"(?:[^"\\]|\\[^])*"/
const SINGLE = /'(?:[^'\\]|\\[^])*'/
const FIGURE = /\b\d[\d_.]*\b/
const HASH = /(?<=^|\s)#.*/

const either = (...patterns: RegExp[]) => new RegExp(patterns.map(({ source }) => source).join('|'))
const words = (text: string) => new RegExp(`\\b(?:${text.replaceAll(' ', '|')})\\b`)

const JSON_WORDS: Language = [
  ['name', /"(?:[^"\\]|\\[^])*"(?=\s*:)/],
  ['string', DOUBLE],
  ['figure', /-?\b\d[\d.eE+-]*/],
  ['word', words('true false null')],
]
const SCRIPT: Language = [
  ['comment', /\/\/.*|\/\*[^]*?\*\//],
  ['string', either(DOUBLE, SINGLE, /`(?:[^`\\]|\\[^])*`/)],
  ['figure', FIGURE],
  [
    'word',
    words(
      'as async await break case catch class const continue default delete else export extends ' +
        'false finally for from function if import in instanceof interface let new null of ' +
        'return static switch this throw true try type typeof undefined void while yield',
    ),
  ],
]
const SHELL: Language = [
  ['comment', HASH],
  // In single quotes nothing is escaped.
  ['string', either(DOUBLE, /'[^']*'/)],
  ['name', /\$\w+|\$\{[^}]*\}|(?<=\s)--?\w[\w-]*/],
  ['word', /(?<=^|[|;&] ?)[a-z][\w.-]*(?=\s|$)/],
]
const SETTINGS: Language = [
  ['comment', HASH],
  ['string', either(DOUBLE, SINGLE)],
  ['word', /^\[.*\]|(?<=^\s*)[\w-]+(?=\s[^=]*[;{])/],
  ['name', /(?<=^[\s-]*)[\w.-]+(?=\s*[=:])/],
  ['figure', FIGURE],
]
const LANGUAGES: Record<string, Language> = {
  json: JSON_WORDS,
  js: SCRIPT,
  ts: SCRIPT,
  sh: SHELL,
  bash: SHELL,
  ini: SETTINGS,
  nginx: SETTINGS,
  yaml: SETTINGS,
  python: [
    ['comment', HASH],
    ['string', either(/"""[^]*?"""/, DOUBLE, SINGLE)],
    ['figure', FIGURE],
    [
      'word',
      words(
        'and as assert async await break class continue def del elif else except False finally ' +
          'for from if import in is lambda None not or pass raise return True try while with yield',
      ),
    ],
  ],
  sql: [
    ['comment', /--.*/],
    ['string', /'(?:[^']|'')*'/],
    ['figure', FIGURE],
    [
      'word',
      words(
        'ALL AND AS ASC BEGIN BY CASE COMMIT CONFLICT CREATE DELETE DESC DISTINCT DO DROP ELSE END ' +
          'EXISTS FROM GROUP HAVING IF IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIMIT NOT NULL ' +
          'ON OR ORDER PRIMARY REPLACE SELECT SET TABLE THEN UNION UPDATE USING VALUES WHEN WHERE WITH',
      ),
    ],
  ],
}

/** A text of code as HTML; nothing of it is lost, and nothing but these marks is added. */
export function highlight(text: string, language: string): string {
  const rules = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined
  if (rules === undefined) return escapeHtml(text)
  const pattern = rules.map(([kind, { source }]) => `(?<${kind}>${source})`).join('|')
  let html = ''
  let at = 0
  for (const match of text.matchAll(new RegExp(pattern, 'gm'))) {
    const kind = Object.keys(match.groups!).find((name) => match.groups![name] !== undefined)
    html += `${escapeHtml(text.slice(at, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    at = match.index + match[0].length
  }
  return html + escapeHtml(text.slice(at))
}
