/**
 * Words of SQL that the engines do not share, each in one place. A statement says them by name;
 * SQLite's stand in the statement itself, and the compiler of PostgreSQL takes the others.
 */
import { createQueryId, createRawBuilder, sql } from 'kysely'
import type { AliasNode, AliasedExpression, OperationNode, RawBuilder, RawNode } from 'kysely'

/** What each engine has a statement say in this place. */
interface Words {
  sqlite: RawBuilder<unknown>
  postgres: RawBuilder<unknown>
  /** The members that `postgres` lists: behind `in`, they are said in a shorter way. */
  list?: unknown
}

/** A piece of a statement as SQLite has it, with what PostgreSQL has in its place. */
export interface TwofoldNode extends RawNode {
  readonly postgres: OperationNode
  readonly list?: unknown
}

export const isTwofold = (node: OperationNode): node is TwofoldNode => 'postgres' in node

/** A piece of a statement that each engine has in words of its own. */
export function byEngine<T>({ sqlite, postgres, list }: Words): RawBuilder<T> {
  const rawNode: TwofoldNode = {
    ...sqlite.toOperationNode(),
    postgres: postgres.toOperationNode(),
    ...(list !== undefined && { list }),
  }
  return createRawBuilder<T>({ queryId: createQueryId(), rawNode })
}

/** A text without the case of A to Z, as NOCASE compares it. */
const fold = (text: unknown) => sql`lower(cast(${text} as text) collate "C")`

/**
 * A column that SQLite has as NOCASE. What it is compared with is `folded`; by it alone, rows are
 * sorted case aside.
 */
export const caseAside = (column: string): RawBuilder<string> =>
  byEngine({ sqlite: sql.ref(column), postgres: sql`lower(${sql.ref(column)})` })

/** What a column `caseAside` is compared with. */
export const folded = (text: string): RawBuilder<string> =>
  byEngine({ sqlite: sql`${text}`, postgres: fold(text) })

/** Any other column, without the case of A to Z; what it is compared with is `folded`, too. */
export const noCase = (column: string): RawBuilder<string> =>
  byEngine({
    sqlite: sql`${sql.raw(column)} collate nocase`,
    postgres: sql`lower(${sql.raw(column)})`,
  })

/** That a column is a text, case aside. */
export const isText = (column: string, text: string): RawBuilder<boolean> =>
  byEngine({
    sqlite: sql`${sql.raw(column)} = ${text} collate nocase`,
    postgres: sql`lower(${sql.raw(column)}) = ${fold(text)}`,
  })

/** To sort by, where a column may be NULL: that comes first. */
export const nullsFirst = (column: string): RawBuilder<number> =>
  byEngine({ sqlite: sql.ref(column), postgres: sql`${sql.ref(column)} nulls first` })

/** A column of a group that has more than one value of it: SQLite takes any, PostgreSQL the least. */
export function anyOf<A extends string>(column: A): AliasedExpression<string, A> {
  const expression = byEngine<string>({
    sqlite: sql.ref(column),
    postgres: sql`min(${sql.ref(column)}) as ${sql.ref(column)}`,
  })
  // Its name is part of what PostgreSQL says, and SQLite needs none.
  const node = expression.toOperationNode() as OperationNode as AliasNode
  return { expression, alias: column, toOperationNode: () => node }
}

/** A join by a condition. In SQLite it is also the order in which the tables are read. */
export const crossJoin = (): RawBuilder<never> =>
  byEngine({ sqlite: sql`cross join`, postgres: sql`join` })

/** Has SQLite read a table by this index. PostgreSQL chooses for itself. */
export const indexedBy = (index: string): RawBuilder<never> =>
  byEngine({ sqlite: sql`indexed by ${sql.raw(index)}`, postgres: sql`` })

/** The last number that a table with numbers of its own ever gave; 0 where it gave none. */
export const lastGiven = (table: string): RawBuilder<number> =>
  byEngine({
    sqlite: sql`coalesce((select seq from sqlite_sequence where name = ${sql.lit(table)}), 0)`,
    postgres: sql`coalesce((select seq from given_number where name = ${sql.lit(table)}), 0)`,
  })
