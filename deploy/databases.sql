-- Aegra keeps its threads, runs and checkpoints in the first database, the agent its ledger in the second.
CREATE DATABASE aegra ENCODING 'UTF8' TEMPLATE template0;
CREATE DATABASE ledger ENCODING 'UTF8' TEMPLATE template0;
