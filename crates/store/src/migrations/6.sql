-- Files whose characters are not in the index of runs as they are read: bytes that are no text, and lists of lines.
CREATE INDEX key_values_unindexed ON key_values (namespace, name)
    WHERE json_type(value, '$.content') IS NOT 'text' OR value ->> '$.encoding' IS NOT 'utf-8';
