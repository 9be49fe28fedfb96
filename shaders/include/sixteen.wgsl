// The reader of sixteens for the type of `@`.
//#if @_type=Q2_K
//#include sixteen_q2_k @
//#end
//#if @_type=Q3_K
//#include sixteen_q3_k @
//#end
//#if @_type=IQ1_S
//#include sixteen_iq1_s @
//#end
//#if @_type=IQ1_M
//#include sixteen_iq1_m @
//#end
//#if @_type=IQ2_XXS
//#include sixteen_iq2_xxs @
//#end
//#if @_type=IQ2_XS
//#include sixteen_iq2_xs @
//#end
//#if @_type=IQ2_S
//#include sixteen_iq2_s @
//#end
//#if @_type=IQ3_XXS
//#include sixteen_iq3_xxs @
//#end
//#if @_type=IQ3_S
//#include sixteen_iq3_s @
//#end
//#if @_type=IQ4_NL
//#include sixteen_iq4_nl @
//#end
//#if @_type=IQ4_XS
//#include sixteen_iq4_xs @
//#end
//#if @_type=TQ1_0
//#include sixteen_tq1_0 @
//#end
//#if @_type=TQ2_0
//#include sixteen_tq2_0 @
//#end
//#if @_type=MXFP4
//#include sixteen_mxfp4 @
//#end
//#if @_type=NVFP4
//#include sixteen_nvfp4 @
//#end
//#if @_type=Q1_0
//#include sixteen_q1_0 @
//#end
//#if @_type=Q2_0
//#include sixteen_q2_0 @
//#end
