"""What tools are made of: schemas, checked arguments, answers, resources and prompts."""
