import { afterAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

describe('quickstart', () => {
  it('starts from nothing, answers a question about a folder, and adds nothing the second time', async () => {
    home.file(
      'garden/tomatoes.md',
      `# Growing tomatoes\nTomatoes need six hours of sun a day.\n${'Water them in the morning. '.repeat(20)}`,
    )
    home.file('garden/beans.md', '# Beans\nBeans climb on poles.\n')
    const first = await home.ks(['quickstart', 'garden'])
    expect(first.code).toBe(0)
    expect(first.stdout).toContain(
      'Space      garden (new)\nDocuments  2 added\nQuestion   What is Growing tomatoes about?\n',
    )
    expect(first.stdout).toMatch(/\[1\] garden\/tomatoes\.md/)
    expect(first.stderr).toContain('  ks fs cat /sources/uploads/garden/tomatoes.md --space garden\n')
    const second = await home.ks(['quickstart', 'garden', '--question', 'How much sun do tomatoes need?'])
    expect(second.code).toBe(0)
    expect(second.stdout).toContain('Space      garden\nDocuments  nothing was added, 2 unchanged\n')
    expect(second.stdout).toContain('six hours of sun')
    const cat = await home.ks(['fs', 'cat', '/sources/uploads/garden/tomatoes.md', '--space', 'garden'])
    expect(cat.stdout).toContain('six hours')
  })

  it('prints one JSON value for programs', async () => {
    const { stdout, code } = await home.ks(['quickstart', 'garden', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ space: 'garden', created: false, finishReason: 'retrieval-evidence' })
  })

  it('explains what to do with a folder without documents', async () => {
    home.file('empty/.hidden', 'x')
    expect(await home.ks(['quickstart', 'empty'])).toMatchObject({
      code: 2,
      stderr: 'ks: empty contains no files to ingest\n',
    })
  })
})

describe("quickstart on this program's own documents", () => {
  it('answers how long traces are kept', async () => {
    const { code, stdout } = await home.ks(['quickstart'])
    expect(code).toBe(0)
    expect(stdout).toContain('Question   How long are answer traces kept?')
    expect(stdout).toContain('90 days')
  })
})
