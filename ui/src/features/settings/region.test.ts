import { describe, expect, it } from 'vitest';
import { addressIn, regionOf } from './region';

describe('the region of a cloud', () => {
  it('stands in its address', () => {
    const bedrock = { family: 'bedrock', base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/' } as const;
    expect(regionOf(bedrock)).toBe('eu-west-1');
    expect(regionOf({ family: 'vertex', base_url: 'https://aiplatform.googleapis.com' })).toBe('global');
    expect(regionOf({ family: 'vertex', base_url: 'https://us-east5-aiplatform.googleapis.com' })).toBe('us-east5');
    expect(regionOf({ family: 'vertex', base_url: 'https://gate.example/v1' })).toBeNull();
    expect(regionOf({ family: 'anthropic', base_url: bedrock.base_url })).toBeNull();
  });

  it('makes an address, and nothing but a name does', () => {
    expect(addressIn({ family: 'bedrock' }, ' US-West-2 ')).toBe('https://bedrock-runtime.us-west-2.amazonaws.com');
    expect(addressIn({ family: 'vertex' }, 'global')).toBe('https://aiplatform.googleapis.com');
    expect(addressIn({ family: 'vertex' }, 'europe-west1')).toBe('https://europe-west1-aiplatform.googleapis.com');
    for (const wrong of ['', 'evil.example/', 'a b', 'x@y']) expect(addressIn({ family: 'bedrock' }, wrong)).toBeNull();
  });
});
