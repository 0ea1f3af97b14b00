import { expect, vi } from 'vitest'
import { type Console, readJson } from './browser.js'

/** Markup that would set a variable of the page if it ran. */
export const HOSTILE = `<img src=x onerror="window.broken=1">`

const DOCUMENTS: Record<string, string> = {
  'harbour.md': `# Fees\n\nMooring costs nine crowns a night.\n\n# Crane\n\nIda Keller repairs the crane of Northport Harbour.\n`,
  'crane.md': `# Crane\n\nIda Keller repairs the crane. Northport Harbour owns the crane. Ida Keller works for Northport Harbour. Jonas Berg leads Northport Harbour. Jonas Berg founded Berg Shipping.\n`,
  'ships.md': `# Ships\n\nBerg Shipping owns the Sea Otter. Jonas Berg founded Berg Shipping. Ida Keller leads Berg Shipping. Northport Harbour uses the Sea Otter.\n`,
  [`${HOSTILE.replaceAll('/', '')}.md`]: `# ${HOSTILE}\n\nBerg Shipping acquired ${HOSTILE} Alert Lines. Alert Lines owns the Sea Otter.\n`,
}

export interface HarbourSpace {
  spaceId: string
  /** sends a request as the operator */
  operator: (method: string, path: string, json?: unknown) => Promise<Response>
  /** uploads a document and waits until it is published */
  upload: (spaceId: string, name: string, text: string) => Promise<void>
}

const spaces = new WeakMap<Console, HarbourSpace>()

/** Creates a space with some documents, one of them hostile; later calls return the same space. */
export async function getHarbourSpace(console: Console): Promise<HarbourSpace> {
  const existing = spaces.get(console)
  if (existing !== undefined) return existing
  const token = console.operator
  const operator = (method: string, path: string, json?: unknown) =>
    console.call(method, path, json === undefined ? { token } : { token, json })
  const space = await readJson<{ id: string }>(
    await operator('POST', '/knowledge-spaces', { name: 'Harbour', slug: 'harbour' }),
  )
  const upload = async (spaceId: string, name: string, text: string) => {
    const form = { file: new File([text], name, { type: 'text/markdown' }) }
    const response = await console.call('POST', `/knowledge-spaces/${spaceId}/documents`, { token, form })
    expect(response.status).toBeLessThan(300)
    const open = `/knowledge-spaces/${spaceId}/jobs?state=open`
    await vi.waitFor(
      async () => {
        const { items } = await readJson<{ items: unknown[] }>(await operator('GET', open))
        if (items.length > 0) throw new Error('a document is still being read')
      },
      { timeout: 60_000, interval: 100 },
    )
  }
  for (const [name, text] of Object.entries(DOCUMENTS)) await upload(space.id, name, text)
  spaces.set(console, { spaceId: space.id, operator, upload })
  return { spaceId: space.id, operator, upload }
}
