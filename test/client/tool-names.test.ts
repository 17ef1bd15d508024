import { expect, test } from 'vitest';
import { ToolNames } from '../../src/client/tools/tool-names.ts';
import { verifies } from '../requirements/requirements.ts';

const SAFE = /^[A-Za-z0-9_-]{1,64}$/;

verifies(['D05', 'B30'], 'keeps a safe name and replaces other characters', () => {
  const names = new ToolNames();
  const assign = (toolName: string): string => names.assign({ serverName: 's', toolName }, toolName).name;
  expect(assign('plain-name_1')).toBe('plain-name_1');
  expect(assign('user/update')).toBe('user_update');
  expect(assign('büro')).toBe('b_ro');
  for (const odd of ['🚀launch', 'with space', 'a'.repeat(120), 'constructor', '__proto__']) {
    expect(assign(odd)).toMatch(SAFE);
  }
});

verifies(['D05', 'B32'], 'gives long names that differ late distinct names of at most 64 characters', () => {
  const names = new ToolNames();
  const stem = `${'s'.repeat(40)}_${'t'.repeat(59)}`;
  const [a, b] = ['x', 'y'].map(
    end => names.assign({ serverName: 's', toolName: stem + end }, stem + end).name,
  );
  expect(a).toMatch(SAFE);
  expect(b).toMatch(SAFE);
  expect(a).not.toBe(b);
});

verifies(['D05', 'T1'], 'lets the first keep the plain name and tells the second who has it', () => {
  const names = new ToolNames();
  const first = names.assign({ serverName: 'a', toolName: 'b_c' }, 'a_b_c');
  const second = names.assign({ serverName: 'a_b', toolName: 'c' }, 'a_b_c');
  expect(first).toEqual({ name: 'a_b_c' });
  expect(second.name).toMatch(/^a_b_c_[0-9a-z]{7}$/);
  expect(second.collidesWith).toEqual({ serverName: 'a', toolName: 'b_c' });
});

verifies('D05', 'gives the same tool the same name in every instance and for ever', () => {
  const owner = { serverName: 's', toolName: 'x'.repeat(100) };
  const names = new ToolNames();
  const { name } = names.assign(owner, owner.toolName);
  names.assign({ serverName: 't', toolName: 'x' }, 'x'.repeat(100));
  expect(names.assign(owner, owner.toolName).name).toBe(name);
  expect(new ToolNames().assign(owner, owner.toolName).name).toBe(name);
});

test('finds a free name when a hashed one is taken', () => {
  const names = new ToolNames();
  const owner = { serverName: 's', toolName: 'n' };
  const probe = new ToolNames();
  probe.assign({ serverName: 'o', toolName: 'o' }, 'n');
  const hashed = probe.assign(owner, 'n').name;
  names.assign({ serverName: 'o', toolName: 'o' }, 'n');
  names.assign({ serverName: 'p', toolName: 'p' }, hashed);
  const { name } = names.assign(owner, 'n');
  expect(name).not.toBe(hashed);
  expect(name).toMatch(SAFE);
});
