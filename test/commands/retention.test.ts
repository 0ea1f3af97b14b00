import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  expect(await home.ks(['spaces', 'create', 'Notes'])).toMatchObject({ code: 0 })
})
afterAll(() => home.end())

const json = async (args: string[]) => {
  const { stdout, stderr, code } = await home.ks(['api', ...args])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

test('ks api shows and changes the retention policies of the tenant and of a space', async () => {
  expect(await json(['getTenantRetentionPolicy'])).toMatchObject({ scope: 'tenant', answerTraceRetentionDays: 90 })
  const change = ['updateSpaceRetentionPolicy', '-s', 'notes', '-F', 'answerTraceRetentionDays=30']
  expect(await json([...change, '-F', 'rawDocumentRetentionDays=365'])).toMatchObject({
    scope: 'knowledge_space',
    answerTraceRetentionDays: 30,
    rawDocumentRetentionDays: 365,
    parseArtifactVersions: 3,
  })
  expect(
    await json(['updateSpaceRetentionPolicy', '-s', 'notes', '-F', 'rawDocumentRetentionDays=null']),
  ).toMatchObject({
    rawDocumentRetentionDays: null,
    answerTraceRetentionDays: 30,
  })
  expect(await json(['updateTenantRetentionPolicy', '-F', 'parseArtifactVersions=7'])).toMatchObject({
    parseArtifactVersions: 7,
    answerTraceRetentionDays: 90,
  })
})

test('ks api names the nearest field of an unknown one, and reports a rejected value and an unknown space', async () => {
  const change = ['api', 'updateSpaceRetentionPolicy', '-s', 'notes', '-F']
  expect(await home.ks([...change, 'answerTraceRetentionDay=3'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean `answerTraceRetentionDays`?'),
  })
  expect(await home.ks([...change, 'answerTraceRetentionDays=0'])).toMatchObject({ code: 2 })
  expect(await home.ks(['api', 'getSpaceRetentionPolicy', '--space', 'nowhere'])).toMatchObject({ code: 5 })
})
