import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  expect(await home.ks(['spaces', 'create', 'Notes'])).toMatchObject({ code: 0 })
})
afterAll(() => home.end())

const json = async (args: string[]) => {
  const { stdout, stderr, code } = await home.ks([...args, '--json'])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

describe('ks retention', () => {
  test('shows the policy of the tenant, and with --space that of a space', async () => {
    expect(await json(['retention', 'show'])).toMatchObject({ scope: 'tenant', answerTraceRetentionDays: 90 })
    const shown = await home.ks(['retention', 'show', '--space', 'notes', '--format', 'table'])
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/^scope +knowledge_space$/m)
    expect(shown.stdout).toMatch(/^rawDocumentRetentionDays +none$/m)
  })

  test('changes only the given values, in one policy', async () => {
    const change = ['retention', 'set', 'answerTraceRetentionDays=30', 'rawDocumentRetentionDays=365', '-s', 'notes']
    expect(await json(change)).toMatchObject({
      scope: 'knowledge_space',
      answerTraceRetentionDays: 30,
      rawDocumentRetentionDays: 365,
      parseArtifactVersions: 3,
    })
    expect(await json(['retention', 'show'])).toMatchObject({
      answerTraceRetentionDays: 90,
      rawDocumentRetentionDays: null,
    })
    expect(await json(['retention', 'set', 'parseArtifactVersions=7'])).toMatchObject({ parseArtifactVersions: 7 })
    expect(await json(['retention', 'set', 'rawDocumentRetentionDays=none', '--space', 'notes'])).toMatchObject({
      rawDocumentRetentionDays: null,
      answerTraceRetentionDays: 30,
      parseArtifactVersions: 3,
    })
  })

  test.each([
    [['answerTraceRetentionDays=0'], 'answerTraceRetentionDays must be an integer above 0, received "0"'],
    [['rawDocumentRetentionDays=1.5'], 'rawDocumentRetentionDays must be an integer above 0, or none, received "1.5"'],
    [['sessionInactivityMinutes'], 'sessionInactivityMinutes needs a value, as in sessionInactivityMinutes=30'],
    [
      ['answerTraceRetentionDay=3'],
      'unknown retention rule "answerTraceRetentionDay"\nhint: did you mean answerTraceRetentionDays?',
    ],
    [['parseArtifactVersions=1', 'parseArtifactVersions=2'], 'parseArtifactVersions is given twice'],
  ])('refuses %j without a request', async (changes, message) => {
    expect(await home.ks(['retention', 'set', ...changes])).toMatchObject({ code: 2, stderr: `ks: ${message}\n` })
  })

  test('reports an unknown space', async () => {
    expect(await home.ks(['retention', 'show', '--space', 'nowhere'])).toMatchObject({ code: 5 })
  })
})
