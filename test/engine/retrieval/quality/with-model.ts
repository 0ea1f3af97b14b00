import { startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, type FakeOptions, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'local' }

/** Starts an engine with a fake model as default generator. */
export async function startWithModel(
  answer: NonNullable<FakeOptions['answer']>,
): Promise<TestEngine & { fake: FakeOpenAi }> {
  const fake = await startFakeOpenAi({ apiKey: 'k', dimension: 32, answer })
  const test = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: fake.url, apiKey: 'k', timeoutMs: 3000 }],
    defaultGenerator: { ...PROVIDER, model: 'some-model' },
  })
  return { ...test, fake, end: () => test.end().then(() => fake.close()) }
}
