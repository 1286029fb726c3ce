"""The verb `report`: one module for each profile collects its facts from the stages."""
