import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { EMPTY_VALUES, parseVariableValue, VALUE_TYPES, type ValueType } from '../../../../src/contract/chat/values.js'
import {
  alignVariables,
  findVariable,
  getCurrentValues,
  listConversationVariables,
  listVariablesAfter,
  setVariableValue,
} from '../../../../src/engine/answers/rows/chat/variables.js'
import { Database } from '../../../../src/engine/store/database.js'
import { sql } from '../../../../src/engine/store/program.js'
import { insertConversation } from '../../../../src/engine/store/rows/chat/conversations.js'
import { newId } from '../../../../src/lib/ids.js'

const dir = mkdtempSync(join(tmpdir(), 'ks-variables-'))
const db = new Database(join(dir, 'main.sqlite'), Date.now)
afterAll(async () => {
  await db.close()
  removeFolder(dir)
})

interface Kept {
  type: ValueType
  value: string
}

const NAMES = ['a', 'A', 'ab', 'b_c', 'c.d', '__proto__']
const types = fc.constantFrom(...VALUE_TYPES)
const declared = fc.uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), type: types }), {
  selector: ({ name }) => name,
})
const step = fc.oneof(
  fc.record({ kind: fc.constant('message' as const), variables: declared }),
  fc.record({
    kind: fc.constant('set' as const),
    name: fc.constantFrom(...NAMES),
    value: fc.oneof(fc.string(), fc.json()),
  }),
  fc.record({
    kind: fc.constant('list' as const),
    limit: fc.integer({ min: 1, max: 4 }),
    part: fc.constantFrom('', 'a', 'B', '_', '.'),
  }),
)

test('a conversation stores the variables that a simple model predicts, however its application changes', () => {
  const appId = newId()
  const who = { tenant: 't', appId, userId: newId() }
  db.writeNow(() => db.now(sql.run("INSERT INTO chat_apps VALUES ('t', ?, 's', '{}', 0, 0)", [appId])))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const id = newId()
      db.writeNow(() => db.now(insertConversation(who, { id, name: '', inputs: {}, now: 1 })))
      const model = new Map<string, Kept>()
      for (const each of steps) {
        if (each.kind === 'message') {
          const conversationVariables = each.variables.map(({ name, type }) => ({
            name,
            valueType: type,
            description: '',
          }))
          const app = { conversationVariables }
          db.writeNow(() => db.now(alignVariables(app, who, id, Date.now())))
          for (const { name, type } of each.variables) {
            const kept = model.get(name)
            const read = kept === undefined ? { rule: '' } : parseVariableValue(type, kept.value)
            if (kept?.type === type) continue
            model.set(name, { type, value: 'text' in read ? read.text : EMPTY_VALUES[type] })
          }
          const values = db.now(getCurrentValues(app, who, id))
          expect(Object.keys(values).sort()).toEqual(each.variables.map(({ name }) => name).sort())
        } else if (each.kind === 'set') {
          const row = db.now(listConversationVariables(who, id)).find(({ name }) => name === each.name)
          expect(row === undefined).toBe(!model.has(each.name))
          const read = row === undefined ? { rule: '' } : parseVariableValue(row.value_type, each.value)
          if (row === undefined || 'rule' in read) continue
          db.writeNow(() => db.now(setVariableValue(who, row, read.text)))
          model.set(each.name, { type: row.value_type, value: read.text })
        } else {
          const expected = [...model].filter(([name]) => name.toLowerCase().includes(each.part.toLowerCase()))
          const seen: [string, Kept][] = []
          for (let after = 0; ; ) {
            const page = db.now(listVariablesAfter(who, id, { after, part: each.part, limit: each.limit }))
            seen.push(...page.map(({ name, value_type: type, value }): [string, Kept] => [name, { type, value }]))
            const last = page.at(-1)
            if (last === undefined) break
            after = db.now(findVariable(who, id, last.id))?.key ?? 0
          }
          expect(seen).toEqual(expected)
        }
      }
      // Other users and applications see none of it.
      expect(db.now(listConversationVariables({ ...who, userId: newId() }, id))).toEqual([])
      expect(db.now(listConversationVariables({ ...who, appId: newId() }, id))).toEqual([])
    }),
  )
})
