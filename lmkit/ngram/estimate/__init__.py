"""From ids to a modified Kneser-Ney model."""
