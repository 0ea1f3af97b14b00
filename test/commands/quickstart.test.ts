import { afterAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

describe('ks quickstart', () => {
  it('answers a question about a folder without earlier setup, and ingests nothing the second time', async () => {
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

  it('prints one JSON value with --json', async () => {
    const { stdout, code } = await home.ks(['quickstart', 'garden', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ space: 'garden', created: false, finishReason: 'retrieval-evidence' })
  })

  it('exits with 2 for a folder without files to ingest', async () => {
    home.file('empty/.hidden', 'x')
    expect(await home.ks(['quickstart', 'empty'])).toMatchObject({
      code: 2,
      stderr: 'ks: empty contains no files to ingest\n',
    })
  })
})

describe('ks quickstart without a folder', () => {
  it('answers from the documentation of this program how long traces are kept', async () => {
    const { code, stdout } = await home.ks(['quickstart'])
    expect(code).toBe(0)
    expect(stdout).toContain('Question   How long are answer traces kept?')
    expect(stdout).toContain('90 days')
  })
})
