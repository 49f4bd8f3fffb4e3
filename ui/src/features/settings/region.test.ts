import { describe, expect, it } from 'vitest';
import { addressIn, isUnnamed, projectOf, regionOf } from './region';

const bedrock = (base_url = '') => ({ id: 'b', family: 'bedrock', base_url }) as const;
const vertex = (base_url = '') => ({ id: 'v', family: 'vertex', base_url }) as const;
const azure = (base_url: string) => ({ id: 'azure', family: 'openai_responses', base_url }) as const;

describe('the region of a cloud', () => {
  it('stands in its address', () => {
    const eu = bedrock('https://bedrock-runtime.eu-west-1.amazonaws.com/');
    expect(regionOf(eu)).toBe('eu-west-1');
    expect(regionOf(vertex('https://aiplatform.googleapis.com'))).toBe('global');
    expect(regionOf(vertex('https://us-east5-aiplatform.googleapis.com'))).toBe('us-east5');
    expect(regionOf(vertex('https://aiplatform.eu.rep.googleapis.com/'))).toBe('eu');
    expect(regionOf(vertex('https://gate.example/v1'))).toBeNull();
    expect(regionOf({ id: 'a', family: 'anthropic', base_url: eu.base_url })).toBeNull();
  });

  it('makes an address, and nothing but a name does', () => {
    expect(addressIn(bedrock(), ' US-West-2 ')).toBe('https://bedrock-runtime.us-west-2.amazonaws.com');
    expect(addressIn(vertex(), 'global')).toBe('https://aiplatform.googleapis.com');
    expect(addressIn(vertex(), 'europe-west1')).toBe('https://europe-west1-aiplatform.googleapis.com');
    for (const place of ['us', 'eu'])
      expect(addressIn(vertex(), place)).toBe(`https://aiplatform.${place}.rep.googleapis.com`);
    for (const wrong of ['', 'evil.example/', 'a b', 'x@y']) expect(addressIn(bedrock(), wrong)).toBeNull();
  });

  it('stands at Vertex AI with the project that pays, where that is named', () => {
    const cases = [
      ['us-east5', 'acme-7', 'https://us-east5-aiplatform.googleapis.com/v1/projects/acme-7/locations/us-east5'],
      ['global', 'acme.com:old', 'https://aiplatform.googleapis.com/v1/projects/acme.com:old/locations/global'],
      ['eu', '42', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/42/locations/eu'],
      ['europe-west1', '', 'https://europe-west1-aiplatform.googleapis.com'],
    ] as const;
    for (const [place, project, url] of cases) {
      expect(addressIn(vertex(), place, ` ${project} `)).toBe(url);
      expect([regionOf(vertex(`${url}/`)), projectOf(vertex(`${url}/`))]).toEqual([place, project]);
    }
    const pasted = vertex(`${cases[0][2]}/publishers/google`);
    expect([regionOf(pasted), projectOf(pasted)]).toEqual(['us-east5', 'acme-7']);
    expect(regionOf(vertex(cases[0][2].replace('locations/us-east5', 'locations/us-west1')))).toBeNull();
    for (const wrong of ['a b', 'a/b', '?x']) expect(addressIn(vertex(), 'global', wrong)).toBeNull();
    expect(addressIn(bedrock(), 'eu-west-1', 'acme')).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com');
  });

  it('is the name of a resource at Azure, which is to be given first', () => {
    const unnamed = azure('https://your_resource.openai.azure.com/openai/v1');
    const named = azure('https://acme-7.openai.azure.com/openai/v1');
    expect([regionOf(unnamed), isUnnamed(unnamed)]).toEqual(['', true]);
    expect([regionOf(named), isUnnamed(named)]).toEqual(['acme-7', false]);
    expect(regionOf(azure('https://gate.example/v1'))).toBeNull();
    expect(regionOf({ ...named, id: 'mine' })).toBeNull();
    expect(addressIn(unnamed, ' Acme-7 ')).toBe(named.base_url);
    for (const at of ['services.ai', 'cognitiveservices']) {
      const foundry = azure(`https://acme-7.${at}.azure.com/openai/v1`);
      expect([regionOf(foundry), isUnnamed(foundry)]).toEqual(['acme-7', false]);
      expect(addressIn(foundry, 'other')).toBe(`https://other.${at}.azure.com/openai/v1`);
    }
    for (const wrong of ['', 'your_resource', 'evil.example/', 'a b']) expect(addressIn(unnamed, wrong)).toBeNull();
  });
});
