"""The words and sentence patterns of the generated corpus "kingdoms", one module a subject."""
