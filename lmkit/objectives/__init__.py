"""What training minimises: from a model and a batch to one sum and one count."""
