/** Writes statements as PostgreSQL has them, where it differs from SQLite. */
import {
  ColumnUpdateNode,
  OnConflictNode,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  RawNode,
} from 'kysely'
import type {
  BinaryOperationNode,
  DataTypeNode,
  FunctionNode,
  InsertQueryNode,
  OperationNode,
  OperatorNode,
} from 'kysely'
import { present } from '../../core/present.js'
import { isTwofold } from '../words.js'

/** Functions that have another name. */
const FUNCTIONS: Readonly<Record<string, string>> = { instr: 'strpos' }

/**
 * By what a row replaces another one, for every table in which one does: SQLite's REPLACE asks all
 * unique keys, PostgreSQL has to be told one.
 */
export const REPLACED_BY: Readonly<Record<string, string>> = {
  configuration: '"subscriber_id"',
  console_place: '"one"',
  console_try: 'lower("name")',
  credential_check: '"subscriber_id", "distid"',
  dealer_document: '"dealer_id", "kind"',
  dealer_list: '"one"',
  distributor_mode: '"distid"',
  feed_hold: '"account", "preset"',
  fraud_partner: '"name"',
  lane_status: '"purchase_order_id"',
  monitor: '"subscriber_id", "distid", "mode"',
  order_engine: '"name"',
  setting: '"name"',
}

export class PostgresCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    if (isTwofold(node)) this.visitNode(node.postgres)
    else super.visitRaw(node)
  }

  /** A list is one value, however long it is; with `in` it might be empty, which is no syntax. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, rightOperand } = node
    const operator = (node.operator as OperatorNode).operator
    const list = listIn(rightOperand)
    if (list !== undefined && (operator === 'in' || operator === 'not in')) {
      this.visitNode(leftOperand)
      this.append(operator === 'in' ? ' = any(' : ' <> all(')
      this.appendValue(list)
      this.append(')')
    } else if (operator === 'like' || operator === 'not like') {
      // SQLite leaves the case of A to Z aside, as ILIKE does by the collation "C", and has no
      // character that takes the meaning of another one away.
      this.visitNode(leftOperand)
      this.append(operator === 'like' ? ' ilike ' : ' not ilike ')
      this.visitNode(rightOperand)
      this.append(` escape ''`)
    } else super.visitBinaryOperation(node)
  }

  protected override visitFunction(node: FunctionNode): void {
    if (node.func === 'max') this.#appendGreatest(node)
    else super.visitFunction({ ...node, func: FUNCTIONS[node.func] ?? node.func })
  }

  /** The greatest of several; of which one is NULL, SQLite knows none, and GREATEST leaves it out. */
  #appendGreatest({ arguments: values }: FunctionNode): void {
    this.append('case when array_position(array[')
    this.compileList(values)
    this.append('], null) is null then greatest(')
    this.compileList(values)
    this.append(') end')
  }

  /** Whole numbers have 64 bits. */
  protected override visitDataType(node: DataTypeNode): void {
    this.append(node.dataType === 'integer' ? 'bigint' : node.dataType)
  }

  protected override visitInsertQuery(node: InsertQueryNode): void {
    super.visitInsertQuery(node.replace ? asUpsert(node) : node)
  }
}

function listIn(node: OperationNode): unknown {
  if ('list' in node) return node.list
  return PrimitiveValueListNode.is(node) ? node.values : undefined
}

/** A row takes the place of the one with its key: what it does not name would stay, so it names all. */
function asUpsert(node: InsertQueryNode): InsertQueryNode {
  const table = present(node.into, 'a table').table.identifier.name
  const key = present(REPLACED_BY[table], `by what a row of ${table} replaces another`)
  const columns = present(node.columns, 'columns')
  return {
    ...node,
    replace: false,
    onConflict: {
      ...OnConflictNode.create(),
      indexExpression: RawNode.createWithSql(key),
      updates: columns.map((column) =>
        ColumnUpdateNode.create(column, RawNode.create(['excluded.', ''], [column])),
      ),
    },
  }
}
