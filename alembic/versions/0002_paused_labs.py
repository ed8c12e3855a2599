"""Labs whose clock stands still.

Revision: 0002
After: 0001
"""

import sqlalchemy as sa

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade():
    with op.batch_alter_table("labs") as labs:
        labs.add_column(sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.false()))
    with op.batch_alter_table("labs") as labs:
        labs.alter_column("paused", existing_type=sa.Boolean, existing_nullable=False, server_default=None)


def downgrade():
    with op.batch_alter_table("labs") as labs:
        labs.drop_column("paused")
