"""What index files of older versions did not have, as SQL that takes it out."""

WITHOUT_NAMES = "ALTER TABLE tokens DROP COLUMN name;"  # versions before 13
WITHOUT_MAIN = f"""
    {WITHOUT_NAMES}
    CREATE TABLE contents_tokens (id INTEGER PRIMARY KEY, token BLOB NOT NULL);
    DROP TABLE unsettled;
    DROP TABLE crowded_blocks;
    DROP TABLE permissions;
    ALTER TABLE workbooks DROP COLUMN version;
    ALTER TABLE tokens DROP COLUMN main;
"""  # versions before 7, and what came later
WITHOUT_CONTENTS = f"""
    {WITHOUT_MAIN}
    DROP TABLE content_words;
    DROP TABLE spellings;
    ALTER TABLE tokens DROP COLUMN texts;
    ALTER TABLE tokens DROP COLUMN documentation;
    DROP TABLE contents_tokens;
    DROP TABLE contents;
    DROP TABLE stale_copies;
    DROP TABLE copy_blocks;
    DROP TABLE copies;
"""  # versions before 6
WITHOUT_CHECKSUMS = f"""
    {WITHOUT_CONTENTS}
    ALTER TABLE workbooks DROP COLUMN within;
    ALTER TABLE workbooks DROP COLUMN seal;
    ALTER TABLE sheets DROP COLUMN crc;
    ALTER TABLE links DROP COLUMN crc;
"""  # before 5
