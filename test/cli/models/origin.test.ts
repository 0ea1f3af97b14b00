import { expect, it } from 'vitest'
import { parseModelOrigin } from '../../../src/cli/models/pull/origin.js'

it('a download address without TLS is accepted for this machine only', () => {
  for (const host of ['127.0.0.1:80', 'localhost', '[::1]:9000'])
    expect(parseModelOrigin(`http://${host}/a/model.gguf`, {})).toMatchObject({ name: 'model' })
  expect(parseModelOrigin('https://hub.test/a/model.gguf', {})).toMatchObject({
    from: { url: 'https://hub.test/a/model.gguf' },
  })
  expect(() => parseModelOrigin('http://hub.test/a/model.gguf', {})).toThrow('must be on this machine')
})
