"""The state after each command, and labs whose clock stands still.

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
    op.add_column("labs", sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("labs", sa.Column("exam", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "lab_states",
        sa.Column("lab_id", sa.Text, sa.ForeignKey("labs.id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


def downgrade():
    op.drop_table("lab_states")
    op.drop_column("labs", "exam")
    op.drop_column("labs", "paused")
