import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CALLERS, getRejectionStatus } from '../../src/contract/callers.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { allRoutes } from '../../src/contract/routes.js'

const routes: readonly RouteDefinition[] = allRoutes
const named = (some: readonly RouteDefinition[]) => some.map(({ method, path }) => `\`${method} ${path}\``).join(', ')

/** The table of callers in `docs/security.md`. */
function table(): string {
  const rows = Object.entries(CALLERS).map(([name, caller]) => {
    const of = (isChat: boolean) => {
      const some = routes.filter(({ scope }) => scope !== 'public' && (scope === 'application') === isChat)
      const admitted = some.filter((route) => getRejectionStatus(route, caller) === undefined)
      const statuses = [
        ...new Set(some.map((route) => getRejectionStatus(route, caller)).filter((one) => one !== undefined)),
      ]
      if (admitted.length === some.length) return 'all'
      const others = statuses.join(', ')
      return admitted.length === 0 ? others : `${admitted.length} of ${some.length}, others ${others}`
    }
    return `| ${name} | ${of(false)} | ${of(true)} |`
  })
  return ['| caller | gateway | chat service, `/v1` |', '|---|---|---|', ...rows].join('\n')
}

describe('docs/security.md', () => {
  const text = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')

  it('contains the table of callers from the contract', () => {
    expect(text).toContain(table())
  })

  it('lists the operations that are public, for the operator, for every scope, and for visitors', () => {
    expect(text).toContain(`Open to all: ${named(routes.filter(({ scope }) => scope === 'public'))}.`)
    expect(text).toContain(`For the operator alone: ${named(routes.filter(({ only }) => only === 'operator'))}.`)
    expect(text).toContain(
      `With the scope \`knowledge-spaces:*\` alone: ${named(routes.filter(({ only }) => only === 'every-scope'))}.`,
    )
    expect(text).toContain(`Also for visitors of a page: ${named(routes.filter(({ visitors }) => visitors === true))}.`)
  })
})
