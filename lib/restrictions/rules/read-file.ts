/**
 * Reads a file of rules: a JSON array, or a rule a line. Every fault is told with its line and
 * reason, and nothing is taken then.
 */
import { checkPart } from '../../core/endpoint/endpoint.js'
import { MAX_FAULTS } from '../../core/errors.js'
import type { Fault } from '../../core/errors.js'
import { Rule, overlaps } from './rule.js'

export interface RuleFault {
  line: number
  /** Null where the text itself is not a rule's. */
  rule_id: string | null
  reason: string
}

/** The rules of a text, or what is wrong with them, at most 100 faults. */
export function readRules(file: string, today: string): { rules: Rule[]; faults: RuleFault[] } {
  const text = file.replace(/^\uFEFF/, '')
  const faults: RuleFault[] = []
  const rules: { rule: Rule; line: number }[] = []
  for (const { line, json } of ruleTexts(text, faults)) {
    if (faults.length >= MAX_FAULTS) break
    const { rule, found } = readRule(json, today)
    if (rule) rules.push({ rule, line })
    faults.push(...found.map((fault) => ({ line, ...fault })))
  }
  faults.push(...contradictions(rules))
  return {
    rules: faults.length > 0 ? [] : rules.map(({ rule }) => rule),
    faults: faults.slice(0, MAX_FAULTS),
  }
}

function readRule(
  json: string,
  today: string,
): { rule: Rule | null; found: Omit<RuleFault, 'line'>[] } {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return {
      rule: null,
      found: [
        { rule_id: null, reason: `is not valid JSON: ${(error as Error).message.slice(0, 200)}` },
      ],
    }
  }
  const id =
    typeof value === 'object' && value !== null && 'rule_id' in value
      ? String(value.rule_id).slice(0, 100)
      : null
  const faults: Fault[] = []
  const rule = checkPart(Rule, value, faults)
  if (faults.length > 0)
    return {
      rule: null,
      found: faults.map(({ path, message }) => ({ rule_id: id, reason: `${path} ${message}` })),
    }
  const late = [
    ...rule.citations.map(({ retrieved }) => ['citations.retrieved', retrieved] as const),
    ['reviewed', rule.reviewed] as const,
  ].filter(([, date]) => date !== null && date > today)
  return {
    rule,
    found: late.map(([member, date]) => ({
      rule_id: id,
      reason: `${member}: ${date} lies in the future`,
    })),
  }
}

/** Two versions of one rule that hold on the same day, or one version twice. */
function contradictions(rules: readonly { rule: Rule; line: number }[]): RuleFault[] {
  const byId = new Map<string, { rule: Rule; line: number }[]>()
  const faults: RuleFault[] = []
  for (const entry of rules) {
    const others = byId.get(entry.rule.rule_id) ?? []
    const clash = others.find(
      ({ rule }) => rule.version === entry.rule.version || overlaps(rule, entry.rule),
    )
    if (clash) {
      const reason =
        clash.rule.version === entry.rule.version
          ? `version ${entry.rule.version} stands in line ${clash.line} too`
          : `holds on days of version ${clash.rule.version} in line ${clash.line}: end one ` +
            'before the other begins'
      faults.push({ line: entry.line, rule_id: entry.rule.rule_id, reason })
    }
    byId.set(entry.rule.rule_id, [...others, entry])
  }
  return faults
}

/** The text of each rule with the line that it begins in. */
function ruleTexts(text: string, faults: RuleFault[]): { line: number; json: string }[] {
  const trimmed = text.trimStart()
  if (trimmed === '') {
    faults.push({ line: 1, rule_id: null, reason: 'the file is empty' })
    return []
  }
  if (trimmed.startsWith('[')) return arrayElements(text, faults)
  // A rule a line; one rule over several lines is an array of one.
  const lines = text
    .split('\n')
    .map((json, i) => ({ line: i + 1, json }))
    .filter(({ json }) => json.trim() !== '')
  const [first, ...others] = lines
  return first?.json.trim() === '{' && others.length > 0
    ? [{ line: first.line, json: text }]
    : lines
}

function arrayElements(text: string, faults: RuleFault[]): { line: number; json: string }[] {
  const found: { line: number; json: string }[] = []
  let [line, depth, start, startLine, inText] = [1, 0, 0, 1, false]
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '\n') line++
    if (inText) {
      if (char === '\\') i++
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else if (char === '{' || char === '[') {
      if (depth++ === 1) [start, startLine] = [i, line]
    } else if (char === '}' || char === ']') {
      if (--depth === 1) found.push({ line: startLine, json: text.slice(start, i + 1) })
    }
  }
  if (depth !== 0 || inText) faults.push({ line, rule_id: null, reason: 'the list ends too early' })
  try {
    const all = JSON.parse(text) as unknown[]
    if (all.length !== found.length)
      faults.push({
        line: 1,
        rule_id: null,
        reason: 'the list holds something that is not an object',
      })
  } catch (error) {
    // A fault within a rule is told with that rule's line.
    if (faults.length === 0 && found.every(({ json }) => isJson(json)))
      faults.push({
        line,
        rule_id: null,
        reason: `is not valid JSON: ${(error as Error).message.slice(0, 200)}`,
      })
  }
  return found
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
